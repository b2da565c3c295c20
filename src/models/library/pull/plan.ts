/** One file to fetch, with all that its source says of it. */
export interface RemoteFile {
  readonly url: string;
  /** SHA-256 in hex, where the source names it. */
  readonly digest: string | undefined;
  readonly bytes: number | undefined;
  /** For the source's own origin only. */
  readonly secretHeaders: Readonly<Record<string, string>>;
}

/** A model to fetch. */
export interface PullPlan {
  /** The model's name once it is installed. */
  readonly name: string;
  /** In order; most models have one. */
  readonly files: readonly RemoteFile[];
  readonly licence: string | undefined;
}

/** Where the registries answer, without a slash at the end. */
export interface PullOrigins {
  readonly huggingFace: string;
  readonly ollama: string;
}
