// npm run fuzz -- --minutes N --seed S [--target NAME]… [--inputs N] [--replay FILE]: random input for every part that
// reads untrusted data (docs/testing.md).
import '../scripts/run-typescript.mjs';

await import('./main.ts');
