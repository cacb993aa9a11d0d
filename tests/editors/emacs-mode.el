;;; emacs-mode.el --- Colors and indentation of onnxtext-mode -*- lexical-binding: t -*-
;; SPDX-License-Identifier: Apache-2.0
;; Run by test_editors.py with broken.onnxtxt and the examples as arguments.

(require 'cl-lib)
(setq vc-handled-backends nil)

(defun face-of (text)
  "The face of TEXT in this buffer."
  (goto-char (point-min))
  (search-forward text)
  (get-text-property (match-beginning 0) 'face))

(with-current-buffer (find-file-noselect (pop command-line-args-left))
  (cl-assert (eq major-mode 'onnxtext-mode))
  (font-lock-ensure)
  (cl-assert (eq (face-of "Relu") 'font-lock-function-name-face))
  (cl-assert (eq (face-of "Sotfmax") 'font-lock-function-name-face))
  (cl-assert (eq (face-of "float[N, 4] y") 'font-lock-type-face))
  (cl-assert (eq (face-of "ir_version") 'font-lock-variable-name-face)))

(let ((count 0))
  (dolist (file command-line-args-left)
    (with-current-buffer (find-file-noselect file)
      (let ((before (buffer-string)))
        (indent-region (point-min) (point-max))
        (unless (string= before (buffer-string))
          (goto-char (point-min))
          (forward-char (1- (abs (compare-strings before nil nil (buffer-string) nil nil))))
          (error "%s:%d is indented differently" file (line-number-at-pos)))
        (setq count (1+ count)))))
  (message "%d texts indented as they were" count))
(setq command-line-args-left nil)
