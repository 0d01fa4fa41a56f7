#lang racket/base
;; SPDX-License-Identifier: MIT
;; Racket 8 on Chez Scheme: racket -t racket.rkt -u program.rkt. Collections that Racket asks for
;; by itself go through the handler of the Scheme below it; (collect-garbage) called by the
;; program does not, and is not seen. Without libgchint, or with a session that cannot be
;; opened, the program runs as without this file.
(require ffi/unsafe/vm)
(with-handlers ([exn:fail? (lambda (e) (eprintf "gchint: no hints: ~a\n" (exn-message e)))])
  (vm-eval
   '(begin
      (load-shared-object "libgchint.so.1")
      (let ([begin! (foreign-procedure "gchint_phase_begin" (unsigned-int unsigned-int) void)]
            [end! (foreign-procedure "gchint_phase_end" () void)]
            [collect-as-before (collect-request-handler)]
            [GCHINT_PHASE_COLLECT 1]
            [GCHINT_F_STW 1])
        (when (fx>= ((foreign-procedure "gchint_init" (unsigned-int) int) 0) 0)
          (collect-request-handler
           (lambda ()
             (dynamic-wind
              (lambda () (begin! GCHINT_PHASE_COLLECT GCHINT_F_STW))
              collect-as-before
              end!))))))))
