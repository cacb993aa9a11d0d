;;; onnxtext-mode.el --- Major mode for ONNX models as text -*- lexical-binding: t -*-

;; SPDX-License-Identifier: Apache-2.0
;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))

;;; Commentary:

;; Syntax highlighting, comments and indentation for .onnxtxt and .onnxtext files; the language server
;; via eglot (built into Emacs 29; a package before) or lsp-mode.
;;
;;   (load "/path/to/onnxtext-mode.el")
;;
;; Install onnxtext with its extra `lsp` on Emacs's `exec-path`: in a clone, `pip install -e '.[lsp]'`.

;;; Code:

(defgroup onnxtext nil
  "ONNX models as text."
  :group 'languages)

(defcustom onnxtext-server-command '("onnxtext" "lsp")
  "The command that runs the language server."
  :type '(repeat string))

(defcustom onnxtext-indent-offset 2
  "Indentation per bracket."
  :type 'integer)

(defvar onnxtext-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?# "<" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?_ "w" table)
    (modify-syntax-entry ?@ "'" table)
    table)
  "Syntax table of `onnxtext-mode'.")

(defconst onnxtext-font-lock-keywords
  (let ((word "[A-Za-z_][A-Za-z0-9_]*"))
    `((,(concat "@" word "\\(?:\\." word "\\)*") . font-lock-preprocessor-face)
      ;; y = ai.onnx.ml.Scaler (x)
      (,(concat "=\\s-*\\(\\(?:" word "\\.\\)*" word "\\)\\(?::" word "\\)?\\s-*[<(]")
       1 font-lock-function-name-face)
      (,(concat "\\_<\\(?:\\(?:float\\|double\\|u?int\\|bfloat\\|complex\\)[0-9a-z]*\\|bool\\|string"
                "\\|seq\\|map\\|optional\\|sparse_tensor\\|undefined\\)\\_>\\(?:\\s-*[[(]\\|\\s-+\\w\\)")
       . font-lock-type-face)
      (,(concat "\\(" word "\\)\\s-*:") 1 font-lock-variable-name-face)
      ("^\\(metadata\\|quantization\\|training\\|configuration\\|order\\|encoding\\|resources\\)\\_>"
       . font-lock-keyword-face)
      ("\\_<\\(?:true\\|false\\|inf\\|nan\\)\\_>" . font-lock-constant-face)))
  "Font lock rules of `onnxtext-mode'.")

(defun onnxtext-indent-line ()
  "Indent the line by the number of open brackets."
  (interactive)
  (let ((depth (save-excursion
                 (beginning-of-line)
                 (onnxtext--depth (point))))
        (closing (save-excursion
                   (back-to-indentation)
                   (if (looking-at "[])}]\\|>") 1 0)))
        (offset (- (current-column) (current-indentation))))
    (unless (nth 3 (syntax-ppss (line-beginning-position)))
      (indent-line-to (* onnxtext-indent-offset (max 0 (- depth closing))))
      (when (> offset 0) (forward-char offset)))))

(defun onnxtext--depth (end)
  "Return the number of open brackets at END; several on one line count once."
  (save-excursion
    (goto-char (point-min))
    (let (lines)
      (while (re-search-forward "[][(){}<>]" end t)
        (let ((bracket (char-before)))
          (unless (or (nth 8 (save-excursion (syntax-ppss (match-beginning 0))))
                      (and (eq bracket ?>) (eq (char-before (1- (point))) ?=)))
            (if (memq bracket '(?\( ?\[ ?{ ?<))
                (push (line-number-at-pos) lines)
              (pop lines)))))
      (length (delete-dups lines)))))

;;;###autoload
(define-derived-mode onnxtext-mode prog-mode "ONNX text"
  "Major mode for ONNX models as text."
  (setq-local comment-start "# ")
  (setq-local comment-start-skip "#+\\s-*")
  (setq-local indent-line-function #'onnxtext-indent-line)
  (setq-local font-lock-defaults '(onnxtext-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.onnx\\(?:txt\\|text\\)\\'" . onnxtext-mode))

(defvar eglot-server-programs)
(defvar lsp-language-id-configuration)
(declare-function lsp-register-client "lsp-mode")
(declare-function make-lsp-client "lsp-mode")
(declare-function lsp-stdio-connection "lsp-mode")
(declare-function lsp-activate-on "lsp-mode")

(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs (cons 'onnxtext-mode (lambda (&rest _) onnxtext-server-command))))

(with-eval-after-load 'lsp-mode
  (add-to-list 'lsp-language-id-configuration '(onnxtext-mode . "onnxtxt"))
  (lsp-register-client
   (make-lsp-client :new-connection (lsp-stdio-connection (lambda () onnxtext-server-command))
                    :activation-fn (lsp-activate-on "onnxtxt")
                    :server-id 'onnxtext)))

(provide 'onnxtext-mode)

;;; onnxtext-mode.el ends here
