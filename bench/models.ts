// What the models service costs beside llama.cpp's own server and node-llama-cpp alone: tokens a second, the
// time to the first one, reading of prompts, memory, and what HTTP adds to a request.
import { rmSync } from 'node:fs';
import { chosenDepth } from './harness/depth.ts';
import { printReport } from './harness/report.ts';
import { measureHttp } from './models/http-cost.ts';
import { writeModels } from './models/model-files.ts';
import { measureFirstText, measureMemory, measureReading, measureWriting } from './models/speed.ts';

const depth = chosenDepth();
const { files, folder } = await writeModels();
// The larger ones show nothing more of whether it runs.
const measured = depth.isBrief ? files.slice(0, 1) : files;
process.on('exit', () => rmSync(folder, { recursive: true }));

await printReport([
  ...measured.flatMap((file) => [
    [`writing, ${file.name}`, () => measureWriting(file, depth)] as const,
    [`first text, ${file.name}`, () => measureFirstText(file, depth)] as const,
    [`reading, ${file.name}`, () => measureReading(file, depth)] as const,
    [`memory, ${file.name}`, () => measureMemory(file)] as const,
  ]),
  ['the cost of HTTP', () => measureHttp(files, depth)],
]);
