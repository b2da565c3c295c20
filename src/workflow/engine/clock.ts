/** Time as the engine sees it, so that tests need not wait for it. */
export interface Clock {
  nowMs(): number;
  /** Calls back once; the answer calls it off. */
  after(delayMs: number, callback: () => void): () => void;
  /** At least 0 and below 1. */
  random(): number;
}

const timerMaxMs = 2 ** 31 - 1;

/** The time of this machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, Math.min(Math.max(0, delayMs), timerMaxMs));
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};
