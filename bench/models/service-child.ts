// The service of models in a process of its own, for clients elsewhere. It says first where it is, and
// then its CPU time in milliseconds to whoever sends it anything.
import { readCpuMs } from './proc.ts';
import { startModelsService } from './ways/models-service.ts';

const address = await startModelsService(process.argv[2] ?? '');
process.on('message', () => void readCpuMs(process.pid).then((cpuMs) => process.send?.(cpuMs)));
process.on('disconnect', () => process.exit());
process.send?.(address);
