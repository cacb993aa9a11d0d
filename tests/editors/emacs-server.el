;;; emacs-server.el --- eglot with onnxtext -*- lexical-binding: t -*-
;; SPDX-License-Identifier: Apache-2.0
;; Run by test_editors.py with broken.onnxtxt as argument.

(require 'package)
(package-initialize)
(require 'eglot)
(setq vc-handled-backends nil
      onnxtext-server-command (list (getenv "PYTHON") "-m" "onnxtext" "lsp")
      eglot-sync-connect 120
      eglot-connect-timeout 120)

(defvar found nil "The diagnostics that the server has told.")
(cl-defmethod eglot-handle-notification :after
  (_server (_method (eql textDocument/publishDiagnostics)) &key diagnostics &allow-other-keys)
  (setq found (append diagnostics nil)))

(with-current-buffer (find-file-noselect (pop command-line-args-left))
  (apply #'eglot--connect (eglot--guess-contact))
  (let ((server (or (eglot-current-server) (error "no server")))
        (end (+ (float-time) 120)))
    (eglot--signal-textDocument/didOpen)
    (while (and (null found) (< (float-time) end)) (accept-process-output nil 0.1))
    (message "found %s" (plist-get (car found) :code))
    (goto-char (point-min))
    (search-forward "= Rel")
    (let ((hover (jsonrpc-request server :textDocument/hover (eglot--TextDocumentPositionParams) :timeout 120)))
      (message "hover %s" (and (string-match "Relu" (format "%s" hover)) (match-string 0 (format "%s" hover)))))
    (eglot-shutdown server)))
