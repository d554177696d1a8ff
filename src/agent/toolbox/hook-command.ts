import { hash } from 'node:crypto'
import {
  DEFAULT_HOOK_MS,
  type Hook,
  type HookPlace,
  hookKey,
  MAX_HOOK_OUTPUT_BYTES,
} from '../../core/agent/hooks.ts'
import { agentSessionOf } from '../../core/agent/session.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import type { InputOf } from '../../verbs/reeve.ts'

const MARK_CHARS = 12

/** Tells the hooks of an event apart. */
export function hookMark(hook: Hook): string {
  return hash('sha256', JSON.stringify(hook), 'hex').slice(0, MARK_CHARS)
}

export function keyOfHook(hook: Hook, { place }: HookPlace): string {
  return hookKey(hook, place, hookMark(hook))
}

/** The command that a hook of an agent is. */
export function hookCommand(agent: ProcessRecord, hook: Hook, at: HookPlace) {
  const { event, turn, tool, facts } = at
  const input = { event, agent: agent.pid, turn, ...(tool === undefined ? {} : { tool }), ...facts }
  return {
    kind: 'command',
    owner: { session: agentSessionOf(agent.pid) },
    label: `hook ${event}${tool === undefined ? '' : ` ${tool}`}`,
    causedBy: { source: 'hook', event, place: at.place, agent: agent.pid },
    ...(agent.cwd === null ? {} : { cwd: agent.cwd }),
    ...(agent.envRef === null ? {} : { envRef: agent.envRef }),
    spec: {
      run: hook.run,
      stdin: { text: `${JSON.stringify(input)}\n` },
      timeoutMs: hook.timeoutMs ?? DEFAULT_HOOK_MS,
      limits: { outputBytes: MAX_HOOK_OUTPUT_BYTES },
      notify: 'none',
    },
  } as const satisfies InputOf<'spawn'>
}
