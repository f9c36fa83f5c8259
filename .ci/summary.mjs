// Names what was skipped and ends with one plain line of counts.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2], 'utf8'));
for (const file of report.testResults) {
  for (const test of file.assertionResults) {
    if (test.status === 'skipped' || test.status === 'pending')
      console.log(`skipped: ${test.fullName}`);
  }
}
const { numPassedTests, numFailedTests, numPendingTests } = report;
console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
