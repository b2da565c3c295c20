import type { DockerOptions } from 'dockerode';
import { request as requestPlainly, type RequestOptions } from 'node:http';
import { request as requestSecurely } from 'node:https';
import type { Socket } from 'node:net';

/**
 * The standard input of a container that was made and not started; ending the stream ends it. Asked
 * for directly, because the client's own call sends its options as a body, which the program would
 * read before anything else.
 */
export function attachInput(docker: DockerOptions, containerId: string): Promise<Socket> {
  const options: RequestOptions = {
    method: 'POST',
    path: `/containers/${encodeURIComponent(containerId)}/attach?stream=1&stdin=1&stdout=0&stderr=0`,
    headers: { connection: 'Upgrade', upgrade: 'tcp' },
    ...(docker.socketPath === undefined
      ? { host: docker.host, port: docker.port, ca: docker.ca, cert: docker.cert, key: docker.key }
      : { socketPath: docker.socketPath }),
  };
  const request = docker.protocol === 'https' ? requestSecurely : requestPlainly;
  return new Promise((resolve, reject) => {
    const sent = request(options);
    sent.setTimeout(answerMs, () => sent.destroy(new Error(`no answer in ${answerMs} ms`)));
    sent.once('upgrade', (_response, socket: Socket) => {
      socket.setTimeout(0);
      // Nothing comes from it, but its end is noticed only when it is read.
      resolve(socket.resume());
    });
    sent.once('response', (response) => {
      response.resume();
      reject(new Error(`the daemon attaches no standard input: ${response.statusCode}`));
    });
    sent.once('error', reject);
    sent.end();
  });
}

const answerMs = 30_000;
