/** One step of a run. @throws VmError */
import type { OperationName } from '../code/operation.ts';
import type { Machine } from './machine.ts';

export type Operation = (machine: Machine, operand: number) => void;

export type Operations<Name extends OperationName> = Readonly<Record<Name, Operation>>;
