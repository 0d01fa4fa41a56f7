;;; SPDX-License-Identifier: MIT
;;; SBCL 2: sbcl --load sbcl.lisp --load program.lisp. Collections that SBCL asks for by itself
;;; call SB-KERNEL::SUB-GC by its name, which stops the world; (gc) called by the program is
;;; bound to it more closely, and is not seen. Without libgchint, or with a session that cannot
;;; be opened, the program runs as without this file.
(handler-case (sb-alien:load-shared-object "libgchint.so.1")
  (error (c) (format *error-output* "gchint: no hints: ~a~%" (substitute #\Space #\Newline (princ-to-string c))))
  (:no-error (&rest loaded)
    (declare (ignore loaded))
    (when (>= (sb-alien:alien-funcall
               (sb-alien:extern-alien "gchint_init" (function sb-alien:int sb-alien:unsigned-int)) 0)
              0)
      (let ((collect 1) (stw 1)) ; GCHINT_PHASE_COLLECT, GCHINT_F_STW
        (sb-ext:without-package-locks
          (sb-int:encapsulate
           'sb-kernel::sub-gc 'gchint
           (lambda (sub-gc &rest arguments)
             (sb-alien:alien-funcall
              (sb-alien:extern-alien "gchint_phase_begin"
                                     (function sb-alien:void sb-alien:unsigned-int sb-alien:unsigned-int))
              collect stw)
             (unwind-protect (apply sub-gc arguments)
               (sb-alien:alien-funcall
                (sb-alien:extern-alien "gchint_phase_end" (function sb-alien:void)))))))))))
