/** One file to fetch, with all that its source says of it. */
export interface PullPlan {
  /** The model's name once it is installed. */
  readonly name: string;
  readonly url: string;
  /** SHA-256 in hex, where the source names it. */
  readonly digest: string | undefined;
  readonly bytes: number | undefined;
  readonly licence: string | undefined;
  /** For the source's own origin only. */
  readonly secretHeaders: Readonly<Record<string, string>>;
}

/** Where the registries answer, without a slash at the end. */
export interface PullOrigins {
  readonly huggingFace: string;
  readonly ollama: string;
}
