-- SPDX-License-Identifier: MIT
-- Description: a Haskell program that collects; +RTS -s has how often, and for how long.
import Data.List (foldl')
import qualified Data.IntMap.Strict as M
import System.Exit

main :: IO ()
main = do
  let step m i = M.insertWith (++) (i `mod` 20000) [show i] (if i `mod` 200000 == 0 then M.empty else m)
  print (M.size (foldl' step M.empty [1 .. 1000000 :: Int]))
  exitWith (ExitFailure 7)
