;; SPDX-License-Identifier: MIT
;; Chez Scheme 9.5 and newer: (load "chez.ss") before the program. Collections that Chez asks
;; for by itself go through (collect-request-handler), in the thread that every other one waits
;; for; (collect) called by the program does not, and is not seen. Without libgchint, or with a
;; session that cannot be opened, the program runs as without this file.
(let ([said (call/cc
	      (lambda (give-up)
		(with-exception-handler
		  (lambda (c) (give-up (call-with-string-output-port (lambda (p) (display-condition c p)))))
		  (lambda () (load-shared-object "libgchint.so.1") #f))))])
  (if said
      (format (console-error-port) "gchint: no hints: ~a\n" said)
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
		end!)))))))
