import { isDeepStrictEqual } from 'node:util'
import type { ProcessRecord } from '../core/process/record.ts'
import { ANSWER, BUILD_CODE, SHELL_CODE, TYPED_AFTER, TYPED_BEFORE } from './commands.ts'
import { type Proof, proof } from './proofs.ts'

export interface CommandEvidence {
  /** The numbers that `count` wrote to its own file, and its log in Reeve. */
  readonly counted: readonly string[]
  readonly printed: string
  /** How far it had counted when the worker was killed, and when the folder was opened again. */
  readonly atKill: number
  readonly atReturn: number
  /** The commands that had ended meanwhile, as the recovery reported them. */
  readonly endedMeanwhile: readonly string[]
  readonly screen: readonly string[]
  readonly build: ProcessRecord
  readonly shell: ProcessRecord
}

/** Proves that the commands of a killed worker went on. */
export function proveCommands(evidence: CommandEvidence): Proof[] {
  const { counted, printed, atKill, atReturn, endedMeanwhile, screen, build, shell } = evidence
  const expected = counted.map((number) => `line ${number}`)
  const lines = printed.split('\n').slice(0, -1)
  const meanwhile = atReturn - atKill
  return [
    proof(
      `count printed ${counted.length} lines, and its log has them: each once and in order.`,
      isDeepStrictEqual(lines, expected)
        ? []
        : [`its log has ${lines.length} lines; ${firstWrong(lines, expected)}`],
    ),
    proof(
      `${meanwhile} of them were printed while no kernel ran.`,
      meanwhile > 0 ? [] : ['it printed nothing meanwhile'],
    ),
    proof(`build ended while no kernel ran, and its exit code is known: ${BUILD_CODE}.`, [
      ...(endedMeanwhile.includes(build.pid) ? [] : ['it had not ended when the folder was opened again']),
      ...wrongCode(build, BUILD_CODE),
    ]),
    proof(
      `shell kept its terminal: typed into before the kill and after, it says ${ANSWER}.`,
      [TYPED_BEFORE, TYPED_AFTER, ANSWER]
        .filter((text) => !screen.some((line) => line.endsWith(text)))
        .map((text) => `it does not show ${text}`)
        .concat(wrongCode(shell, SHELL_CODE)),
    ),
  ]
}

function wrongCode({ pid, outcome }: ProcessRecord, code: number): string[] {
  return outcome?.exitCode === code ? [] : [`${pid} has the exit code ${outcome?.exitCode}, not ${code}`]
}

function firstWrong(lines: readonly string[], expected: readonly string[]): string {
  const at = expected.findIndex((line, index) => line !== lines[index])
  return `the first that differs is ${lines[at] ?? 'missing'}, not ${expected[at]}`
}
