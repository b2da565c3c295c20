import { sqlState } from '../../kit/database/sql-errors.ts';

const attemptsMax = 3;

/** Repeats a statement that lost a deadlock against another replica's; it has changed nothing. */
export async function despiteDeadlock<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (sqlState(error) !== '40P01' || attempt === attemptsMax) throw error;
    }
  }
}
