/** How far a pull has come, as Ollama's API words it. */
export interface PullProgress {
  /** `pulling manifest`, `pulling <digest>`, why it is tried again, `verifying sha256 digest`, `writing manifest`, `success`. */
  readonly status: string;
  /** `sha256:` and hex, where the source names it. */
  readonly digest?: string;
  readonly total?: number;
  /** Bytes that are on the disk, those of an earlier, cut pull included. */
  readonly completed?: number;
}

/** Fetches models into the library. */
export interface Puller extends AsyncDisposable {
  /**
   * Pulls the model of a catalogue name, an Ollama name, `hf.co/<owner>/<repository>[:<file or
   * quantisation>]` or an https address. Callers that want the same model watch one download, which
   * ends when the last of them has gone; what has arrived is kept for the next pull. The last event
   * is `success`; all else throws: `invalid`, `forbidden` (an address that is not on the
   * allow-list), `not_found`, `conflict`, `exhausted` (too many pulls), `unavailable` (`disk_full`),
   * `upstream`, `cancelled`.
   */
  pull(name: string, options: { readonly signal: AbortSignal }): AsyncIterable<PullProgress>;
}
