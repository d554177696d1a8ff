import type { StrictAnswer } from '../../model/strict-provider.ts'

/**
 * The tool calls of each answer of the first turn. `deploy` needs an approval, `look` may run again, `note` must not, and `command` is a
 * program that the keeper holds.
 */
export const CALLS: readonly (readonly Call[])[] = [
  ['note'],
  ['note', 'look', 'note'],
  ['deploy'],
  ['command'],
  ['note', 'command', 'look'],
  ['look', 'look'],
  ['note', 'deploy', 'note'],
  ['command', 'command'],
  ['note'],
  ...times(19, 'note', 'look'),
  ['note', 'note', 'note', 'look'],
  ['note'],
]
export type Call = 'note' | 'look' | 'deploy' | 'command'

/** Inputs are sent when this model call has begun. */
export const INPUTS_AT_CALL = 3
export const INPUTS = [
  { id: 'steered', text: '<steered>', mode: 'steer' },
  { id: 'queued', text: '<queued>', mode: 'queue' },
] as const
export const GOAL = '<goal>'
export const TURNS = 2

/** The answer after this many others. `effects`: the file that the tools write a line to. */
export function answerAt(place: number, effects: string): StrictAnswer {
  const calls = CALLS[place]
  if (calls === undefined) return { text: `Answer ${place}.` }
  return {
    ...(place % 2 === 0 ? { text: `Step ${place}.` } : {}),
    calls: calls.map((name, index) => {
      const at = `${place}.${index}`
      return name === 'command'
        ? {
            id: `call-${at}`,
            name: 'run_command',
            text: JSON.stringify({ command: `echo ${at} >> ${effects}` }),
          }
        : { id: `call-${at}`, name, text: JSON.stringify({ at }) }
    }),
  }
}

/** One call in each answer, the tools in turn. */
function times(count: number, ...tools: readonly Call[]): readonly (readonly Call[])[] {
  return Array.from({ length: count }, (_, index) => [tools[index % tools.length] ?? 'note'])
}
