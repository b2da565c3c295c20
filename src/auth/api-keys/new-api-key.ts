export interface NewApiKey {
  readonly name: string;
  readonly service: string;
  readonly permissions: readonly string[];
  readonly expiresInDays?: number | undefined;
  /** Makes it the key of this user. */
  readonly userId?: string | undefined;
}
