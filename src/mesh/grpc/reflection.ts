import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import { ReflectionService } from '@grpc/reflection';
import { EventEmitter } from 'node:events';
import type { GrpcServer } from '../../kit/grpc/grpc-server.ts';
import { methodOf, type MeshDefinition } from './definition.ts';

const method = 'ServerReflectionInfo';

/** Serves `grpc.reflection.v1` and `v1alpha`: what the server has, to clients without our files. */
export function addReflection<Peer>(server: GrpcServer<Peer>, definition: MeshDefinition): void {
  new ReflectionService(definition.public).addToServer({
    addService: (service, implementation) =>
      server.addBidiStream(methodOf(service, method), (requests) =>
        answersOf(implementation, requests),
      ),
  });
}

/** The library speaks with a stream of grpc-js, on which it answers each message as it gets it. */
async function* answersOf(
  implementation: UntypedServiceImplementation,
  requests: AsyncIterable<object>,
) {
  const answers: object[] = [];
  const stream = Object.assign(new EventEmitter(), {
    write: (answer: object) => answers.push(answer),
    end: () => {},
  });
  implementation[method]?.(stream as never, () => {});
  for await (const request of requests) {
    stream.emit('data', request);
    yield* answers.splice(0);
  }
}
