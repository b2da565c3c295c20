import { useEffect, useState } from 'react';

const settlingMs = 300;

/** A value that is being typed, once it has stood still for a moment. */
export function useSettled<T>(value: T): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), settlingMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
