/** How a service is, as `/status.json` of the console tells it. */
export interface ServiceState {
  readonly name: string;
  readonly title: string;
  readonly url: string;
  readonly status: string;
  readonly version: string | undefined;
  /** Whole seconds. */
  readonly uptime: number | undefined;
  readonly error: string | undefined;
}
