import { rpcErrors } from './wire.ts';

/** What is answered as a JSON-RPC error, in words that are safe to show. */
export class RpcError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Of parameters that make no sense. */
export function invalid(message: string): RpcError {
  return new RpcError(rpcErrors.invalidParams, message);
}
