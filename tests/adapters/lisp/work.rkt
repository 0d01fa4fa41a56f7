#lang racket/base
(require ffi/unsafe/vm)
(define (work n)
  (let loop ([i 0] [l '()])
    (when (< i n)
      (loop (+ i 1) (if (= 0 (modulo i 1000)) '() (cons (make-vector 10 i) l))))))
(define before (vm-eval '(collections)))
(work 1000000)
(printf "collections ~a\n" (- (vm-eval '(collections)) before))
