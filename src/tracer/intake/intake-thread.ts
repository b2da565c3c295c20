/**
 * The thread that reads exports and analyses traces, so that the event loop stays free. It touches
 * no database: what is to be written or read it asks the main side for.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { Assembler } from './assembler.ts';
import { ownMemory } from '../lasting-thread.ts';
import type { IntakeReply, IntakeRequest, IntakeSettings } from './messages.ts';

const sweepMs = 100;

if (parentPort) serve(parentPort, workerData as IntakeSettings);

type Port = NonNullable<typeof parentPort>;

function serve(port: Port, settings: IntakeSettings): void {
  const post = (reply: IntakeReply): void => {
    port.postMessage(reply, reply.kind === 'write' ? ownMemory(reply.write.body) : []);
  };
  const assembler = new Assembler(settings, post);
  setInterval(() => assembler.sweep(), sweepMs);
  port.on('message', (request: IntakeRequest) => take(assembler, request));
}

function take(assembler: Assembler, request: IntakeRequest): void {
  switch (request.kind) {
    case 'export':
      return assembler.takeExport(request);
    case 'written':
      return assembler.noteWritten(request);
    case 'write-failed':
      return assembler.noteWriteFailed();
    case 'completed':
      return assembler.noteCompleted();
    case 'not-completed':
      return assembler.noteNotCompleted(request);
    case 'loaded':
      return assembler.takeLoaded(request);
    case 'not-loaded':
      return assembler.noteNotLoaded();
    case 'read':
      return assembler.answerReader(request);
    case 'rows-over':
      return assembler.noteRows(request);
    case 'adopt':
      return assembler.adopt(request);
    case 'baselines':
      return assembler.setBaselines(request);
  }
}
