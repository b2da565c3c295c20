/** The topic on which replicas tell one another of a new root certificate. */
export const rootTopic = 'mesh.roots';

/** The name of the port of gRPC. */
export const meshGrpc = 'mesh gRPC';
