import type { ExecutionResult } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { Log } from '../../kit/log.ts';
import type { OperationContext } from './context.ts';
import { maskError } from './errors.ts';
import { RequestBudget } from './request-budget.ts';

/**
 * Puts a refusal in the place of an answer that would be too much JSON, before any of it is written. Of a
 * subscription each event is an answer of its own.
 */
export function boundingAnswers(log: Log): Plugin<OperationContext> {
  const bounded = (result: ExecutionResult, budget: RequestBudget): ExecutionResult => {
    try {
      budget.spendAnswer(result.data);
      return result;
    } catch (error) {
      return { data: null, errors: [maskError(error, log)] };
    }
  };
  return {
    onExecute: ({ args }) => ({
      onExecuteDone: ({ result, setResult }) => {
        // No directive of this schema makes a stream of an answer.
        const { budget } = args.contextValue as OperationContext;
        if (!(Symbol.asyncIterator in result)) setResult(bounded(result, budget));
      },
    }),
    onSubscribe: () => ({
      onSubscribeResult: () => ({
        onNext: ({ result, setResult }) => setResult(bounded(result, new RequestBudget())),
      }),
    }),
  };
}
