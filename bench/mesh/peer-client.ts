/** How one speaks with a peer; a step is one request on one of 64 connections. */
export interface PeerClient extends AsyncDisposable {
  /** What a lookup and a put are to this peer. */
  readonly lookup: string;
  readonly put: string;
  /** Resolves when the server answers. */
  start(): Promise<void>;
  /** Stores the 10,000 agents. */
  fill(): Promise<void>;
  /** Looks agents up, so many times, with all connections busy. */
  look(times: number): Promise<void>;
  /** Stores agents durably, so many, with all connections busy. */
  store(times: number): Promise<void>;
}
