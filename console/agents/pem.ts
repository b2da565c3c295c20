/** What stands in a certificate, as far as it is shown. */
export interface CertificateFacts {
  readonly pem: string;
  readonly validFrom: Date | undefined;
  readonly validTo: Date | undefined;
  /** SHA-256 of the certificate, as `openssl x509 -fingerprint -sha256` prints it. */
  readonly fingerprint: string;
}

/** The certificates of a PEM text, in their order. */
export function splitPem(text: string): string[] {
  return text.match(/-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g) ?? [];
}

/** Reads a certificate; times that cannot be read are left out. */
export async function readCertificate(pem: string): Promise<CertificateFacts> {
  const bytes = Uint8Array.from(atob(pem.replaceAll(/-----[^-]+-----|\s/g, '')), (character) =>
    character.charCodeAt(0),
  );
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const [validFrom, validTo] = timesIn(bytes);
  const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0').toUpperCase());
  return { pem, validFrom, validTo, fingerprint: hex.join(':') };
}

const utcTime = 0x17;
const generalizedTime = 0x18;

/**
 * The two times of a certificate's validity. In DER they stand side by side, and no other pair of times
 * comes before them, so that the bytes need not be understood as a whole.
 */
function timesIn(bytes: Uint8Array): readonly (Date | undefined)[] {
  for (let at = 0; at + 2 < bytes.length; at++) {
    const first = readTime(bytes, at);
    const second = first && readTime(bytes, first.end);
    if (second) return [first.time, second.time];
  }
  return [undefined, undefined];
}

function readTime(bytes: Uint8Array, at: number): { time: Date; end: number } | undefined {
  const [tag, length = 0] = bytes.subarray(at, at + 2);
  if (tag !== utcTime && tag !== generalizedTime) return undefined;
  const end = at + 2 + length;
  const text = String.fromCharCode(...bytes.subarray(at + 2, end));
  const digits = tag === utcTime ? `${Number(text.slice(0, 2)) < 50 ? '20' : '19'}${text}` : text;
  const found = /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits);
  if (!found) return undefined;
  const [, year, month, day, hour, minute, second] = found;
  return { time: new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`), end };
}
