// Names what was skipped and what failed, and ends with one plain line of counts. The end of a long log is what is read.
import { readFileSync } from 'node:fs';

let passed = 0;
let failed = 0;
let skipped = 0;
/** How many of the files that took longest are named. */
const SLOWEST = 25;
const seconds = [];
for (const path of process.argv.slice(2)) {
  const report = JSON.parse(readFileSync(path, 'utf8'));
  passed += report.numPassedTests;
  failed += report.numFailedTests;
  skipped += report.numPendingTests;
  for (const file of report.testResults) {
    const name = file.name.replace(/^.*\/test\//, 'test/');
    seconds.push([name, (file.endTime - file.startTime) / 1_000]);
    if (file.status === 'failed' && file.message) console.log(`failed: ${name}: ${file.message}`);
    for (const test of file.assertionResults) {
      if (test.status === 'skipped' || test.status === 'pending')
        console.log(`skipped: ${test.fullName}`);
      if (test.status !== 'failed') continue;
      console.log(`failed: ${name}: ${test.fullName}`);
      console.log(test.failureMessages.join('\n').slice(0, 2_000));
    }
  }
}
const slowest = seconds.sort(([, a], [, b]) => b - a).slice(0, SLOWEST);
console.log(`slowest: ${slowest.map(([name, secs]) => `${name} ${secs.toFixed(0)} s`).join(', ')}`);
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
