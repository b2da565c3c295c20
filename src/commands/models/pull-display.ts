import type { PullProgress } from '../../models/library/pull/puller.ts';
import { formatBytes } from '../output.ts';

const barWidth = 24;
const lineStepPercent = 10;

/** Shows a pull on standard error: a moving bar on a terminal, a line now and then elsewhere. */
export class PullDisplay {
  readonly #stream: NodeJS.WriteStream;
  readonly #startedAt = performance.now();
  #firstBytes: number | undefined;
  #lastLine = '';

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream;
  }

  show(progress: PullProgress): void {
    if (this.#stream.isTTY) this.#draw(progress);
    else this.#print(progress);
  }

  /** Leaves what is drawn on its line. */
  end(): void {
    if (this.#stream.isTTY) this.#stream.write('\n');
  }

  #draw({ status, total, completed = 0 }: PullProgress): void {
    const arrived = completed > 0 ? `${status}  ${formatBytes(completed)}` : status;
    const text = total === undefined ? arrived : `${status}  ${this.#figures(completed, total)}`;
    const width = Math.max(20, this.#stream.columns - 1);
    this.#stream.write(`\r\u001B[K${text.slice(0, width)}`);
  }

  #print({ status, total, completed = 0 }: PullProgress): void {
    const percent = total ? Math.floor((completed / total) * 100) : undefined;
    const step = percent === undefined ? '' : ` ${percent - (percent % lineStepPercent)} %`;
    const size = total === undefined ? '' : ` of ${formatBytes(total)}`;
    const line = `${status}${step}${size}`;
    if (line !== this.#lastLine) this.#stream.write(`${line}\n`);
    this.#lastLine = line;
  }

  #figures(completed: number, total: number): string {
    this.#firstBytes ??= completed;
    const share = total === 0 ? 1 : completed / total;
    const filled = Math.round(share * barWidth);
    const bar = '█'.repeat(filled) + '░'.repeat(barWidth - filled);
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const bytesPerSecond = (completed - this.#firstBytes) / Math.max(seconds, 0.1);
    const percent = `${Math.floor(share * 100)} %`.padStart(5);
    const sizes = `${formatBytes(completed)} of ${formatBytes(total)}`;
    const rest = restOf(total - completed, bytesPerSecond);
    return `${bar} ${percent}  ${sizes}  ${formatBytes(bytesPerSecond)}/s${rest}`;
  }
}

function restOf(bytes: number, bytesPerSecond: number): string {
  if (bytesPerSecond < 1 || bytes === 0) return '';
  const seconds = Math.ceil(bytes / bytesPerSecond);
  const minutes = Math.floor(seconds / 60);
  return `  ${minutes}:${String(seconds % 60).padStart(2, '0')} left`;
}
