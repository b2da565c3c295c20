import type { ExecutionResult, GraphQLError } from 'graphql';
import type { Plugin } from 'graphql-yoga';

type Results = AsyncIterable<ExecutionResult>;

/** A stream over HTTP that breaks off says why before it ends; WebSockets have a message for that. */
export const tellingFailures: Plugin = {
  onResultProcess: (process) => {
    const { result } = process;
    if (Symbol.asyncIterator in result) process.setResult(tellingFailure(result as Results));
  },
};

/** Unlike a generator it ends at once when its reader returns. */
function tellingFailure(results: Results): AsyncIterableIterator<ExecutionResult> {
  const source = results[Symbol.asyncIterator]();
  const end = { done: true, value: undefined } as const;
  let isOver = false;
  return {
    next: async () => {
      if (isOver) return end;
      try {
        return await source.next();
      } catch (error) {
        isOver = true;
        // What comes this far is masked.
        return { done: false, value: { errors: [error as GraphQLError] } };
      }
    },
    return: async () => (await source.return?.()) ?? end,
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
