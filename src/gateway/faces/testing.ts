import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { Fault } from '../../kit/errors.ts';
import type { Answer } from '../conversation/answer.ts';
import { replayAnswer } from '../conversation/replay.ts';
import type { ChatRequest } from '../conversation/request.ts';
import { describeFault } from '../envelope.ts';
import type { Face } from './face.ts';

/** What is served to every request: an answer, or one that breaks off with a fault. */
export interface Served {
  readonly answer: Answer;
  /** After how many pieces of a stream it breaks off. */
  readonly brokenAfter?: number;
}

/** A server that speaks as a face does and always gives the same answer. */
export interface FaceServer extends AsyncDisposable {
  /** With `/v1`. */
  readonly url: string;
  /** Every request that was understood, as it was read. */
  readonly requests: ChatRequest[];
}

/** Serves a face to official clients, on a free port of this machine. */
export async function serveFace(face: Face, served: Served): Promise<FaceServer> {
  const requests: ChatRequest[] = [];
  const server = createServer((incoming, response) => {
    void answer(incoming, response);
  });
  async function answer(incoming: IncomingMessage, response: ServerResponse) {
    try {
      // Clients send objects.
      const request = face.read((await json(incoming)) as Record<string, unknown>);
      requests.push(request);
      if (request.isStream) writeStream(response, face, { request, served });
      else writeJson(response, 200, face.writeAnswer(served.answer, request));
    } catch (error) {
      const fault = Fault.from(error);
      writeJson(response, fault.status, { error: describeFault(fault) });
    }
  }
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  // A TCP server's address is an object.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => {
        server.close(resolve);
      });
    },
  };
}

function writeJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function writeStream(
  response: ServerResponse,
  face: Face,
  { request, served }: { readonly request: ChatRequest; readonly served: Served },
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const stream = face.openStream(request);
  const events = replayAnswer(served.answer);
  const isBroken = served.brokenAfter !== undefined;
  for (const event of events.slice(0, served.brokenAfter)) response.write(stream.write(event));
  if (isBroken) response.write(face.writeFailure(new Fault('upstream', 'it broke off')));
  response.end();
}
