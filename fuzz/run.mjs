// npm run fuzz -- --minutes N --seed S [--target NAME]… [--inputs N] [--replay FILE]: random input for every part that
// reads what others wrote (docs/testing.md).
import '../scripts/run-typescript.mjs';

await import('./main.ts');
