;; Products of one vector with many rows, sixteen bytes at a time (WebAssembly's fixed-width SIMD).
;; A row is $stride bytes long, a multiple of 16, and so is the vector; row follows row.
;; wat2wasm of the npm package wabt makes row-products.wasm of this.
(module
  (memory (export "memory") 18)

  ;; Of 8-bit numbers: $count products as 32-bit integers from $product on.
  (func (export "multiplyBytes")
    (param $vector i32) (param $stride i32) (param $row i32) (param $count i32) (param $product i32)
    (local $at i32) (local $sum v128) (local $some v128) (local $others v128)
    (block $done
      (loop $rows
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $sum (v128.const i32x4 0 0 0 0))
        (local.set $at (i32.const 0))
        (loop $numbers
          (local.set $some (v128.load (i32.add (local.get $row) (local.get $at))))
          (local.set $others (v128.load (i32.add (local.get $vector) (local.get $at))))
          (local.set $sum
            (i32x4.add
              (local.get $sum)
              (i32x4.add
                (i32x4.dot_i16x8_s
                  (i16x8.extend_low_i8x16_s (local.get $some))
                  (i16x8.extend_low_i8x16_s (local.get $others)))
                (i32x4.dot_i16x8_s
                  (i16x8.extend_high_i8x16_s (local.get $some))
                  (i16x8.extend_high_i8x16_s (local.get $others))))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $numbers (i32.lt_u (local.get $at) (local.get $stride))))
        (i32.store
          (local.get $product)
          (i32.add
            (i32.add
              (i32x4.extract_lane 0 (local.get $sum))
              (i32x4.extract_lane 1 (local.get $sum)))
            (i32.add
              (i32x4.extract_lane 2 (local.get $sum))
              (i32x4.extract_lane 3 (local.get $sum)))))
        (local.set $product (i32.add (local.get $product) (i32.const 4)))
        (local.set $row (i32.add (local.get $row) (local.get $stride)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $rows))))

  ;; Of 32-bit floats: $count products as 32-bit floats from $product on.
  (func (export "multiplyFloats")
    (param $vector i32) (param $stride i32) (param $row i32) (param $count i32) (param $product i32)
    (local $at i32) (local $sum v128)
    (block $done
      (loop $rows
        (br_if $done (i32.eqz (local.get $count)))
        (local.set $sum (v128.const f32x4 0 0 0 0))
        (local.set $at (i32.const 0))
        (loop $numbers
          (local.set $sum
            (f32x4.add
              (local.get $sum)
              (f32x4.mul
                (v128.load (i32.add (local.get $row) (local.get $at)))
                (v128.load (i32.add (local.get $vector) (local.get $at))))))
          (local.set $at (i32.add (local.get $at) (i32.const 16)))
          (br_if $numbers (i32.lt_u (local.get $at) (local.get $stride))))
        (f32.store
          (local.get $product)
          (f32.add
            (f32.add
              (f32x4.extract_lane 0 (local.get $sum))
              (f32x4.extract_lane 1 (local.get $sum)))
            (f32.add
              (f32x4.extract_lane 2 (local.get $sum))
              (f32x4.extract_lane 3 (local.get $sum)))))
        (local.set $product (i32.add (local.get $product) (i32.const 4)))
        (local.set $row (i32.add (local.get $row) (local.get $stride)))
        (local.set $count (i32.sub (local.get $count) (i32.const 1)))
        (br $rows)))))
