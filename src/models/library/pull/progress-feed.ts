import type { PullProgress } from './puller.ts';

interface Place {
  readonly index: number;
  readonly version: number;
}

/**
 * What has become of a pull. A watcher sees every step, also those before it came, and of each step
 * the newest figures only: memory grows neither with the download nor with slow watchers.
 */
export class ProgressFeed {
  readonly #steps: { progress: PullProgress; version: number }[] = [];
  readonly #waiting = new Set<() => void>();
  #ending: { readonly error: unknown } | undefined;

  /** A progress of the same status replaces the one before. */
  publish(progress: PullProgress): void {
    const last = this.#steps.at(-1);
    if (last?.progress.status === progress.status) {
      last.progress = progress;
      last.version += 1;
    } else {
      this.#steps.push({ progress, version: 0 });
    }
    this.#wake();
  }

  /** Ends every watcher once it has seen all; with an error, they throw it. */
  end(error?: unknown): void {
    this.#ending ??= { error };
    this.#wake();
  }

  /** Ends with the pull or with the signal, whichever is first. */
  async *watch(signal: AbortSignal): AsyncGenerator<PullProgress> {
    for (let seen: Place = { index: -1, version: 0 }; !signal.aborted;) {
      const next = this.#after(seen);
      const progress = next && this.#steps[next.index]?.progress;
      if (next && progress) {
        seen = next;
        yield progress;
      } else if (this.#ending) {
        if (this.#ending.error !== undefined) throw this.#ending.error;
        return;
      } else {
        await this.#change(signal);
      }
    }
  }

  /** The same step with newer figures, else the step behind it. */
  #after({ index, version }: Place): Place | undefined {
    const step = this.#steps[index];
    if (step && step.version > version) return { index, version: step.version };
    const next = this.#steps[index + 1];
    return next && { index: index + 1, version: next.version };
  }

  #change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
