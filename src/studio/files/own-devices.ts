/** Whose hand a change is that was made in the folder itself. */
export const diskDevice = 'disk';

/** And one that came over HTTP without the name of a device. */
export const apiDevice = 'api';

/** What no device of a user may be called. */
export const ownDevices: readonly string[] = [diskDevice, apiDevice];
