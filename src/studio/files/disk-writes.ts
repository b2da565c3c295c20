import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';

/** Writes all of some bytes where the file is. */
export async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  let written = 0;
  while (written < bytes.length) {
    const { bytesWritten } = await file.write(bytes, written);
    written += bytesWritten;
  }
}

/** Waits until what was written to a file has reached the disk. */
export function syncFile(path: string): Promise<void> {
  return sync(path, constants.O_RDWR);
}

/** Gives a file its mode, and waits as `syncFile` does; a link that took its place is refused. */
export function settleFile(path: string, mode: number): Promise<void> {
  return sync(path, constants.O_RDWR | constants.O_NOFOLLOW, mode);
}

/** A name that was made in a folder survives a power cut only when the folder was synced too. */
export function syncFolder(path: string): Promise<void> {
  return sync(path, constants.O_RDONLY);
}

async function sync(path: string, flags: number, mode?: number): Promise<void> {
  const file = await open(path, flags);
  try {
    if (mode !== undefined) await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
}
