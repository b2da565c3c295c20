/** Where verifiers find the mesh's public key. */
export const keySetPath = '/.well-known/jwks.json';

/** Where they find a status list, by its number. */
export const statusListPath = '/api/v1/acap/status-lists';

/** How many attestations share a status list: 16 KiB of bits. */
export const statusListSize = 131_072;
