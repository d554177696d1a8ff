import {
  type OutsideProgram,
  outsideProgramOf,
  type ProgramState,
  unknownOutside,
} from '../../core/agent/outside.ts'
import { agentSessionOf } from '../../core/agent/session.ts'
import { hasEnded, type ProcessRecord } from '../../core/process/record.ts'
import { startSpecOf } from '../../core/process/spec.ts'
import { keptProgram } from '../kept-rpc/kept-program.ts'
import { shakeHands } from './handshake.ts'
import { OutsideFailure } from './outside-failure.ts'
import { OUTSIDE_TIMES, type OutsideParts } from './outside-parts.ts'

export interface OpenedProgram {
  readonly program: ProgramState
  /** `kept`: it has gone on. `resumed`, `loaded`: a new program goes on with the session. `new`: it knows nothing of the session. */
  readonly how: 'kept' | 'resumed' | 'loaded' | 'new'
}

/** The live program of an agent, or a new one with a session. */
export async function openProgram(
  parts: OutsideParts,
  agent: ProcessRecord,
  signal: AbortSignal,
): Promise<OpenedProgram> {
  const verbs = parts.verbsOf(agent)
  const before = agent.agent?.program ?? null
  if (before !== null && !hasEnded(await verbs.show({ pid: before.pid })))
    return { program: before, how: 'kept' }
  const spec = startSpecOf(agent)
  const outside = outsideProgramOf(spec)
  if (outside === null)
    throw new OutsideFailure('setup_failed', unknownOutside(String(spec['model'])).join(' '))
  await parts.openSession(agent)
  const pid = await start(parts, agent, outside, signal)
  const { startMs } = { ...OUTSIDE_TIMES, ...parts.times }
  try {
    return await shakeHands({ parts, agent, outside, pid, before, signal, startMs })
  } catch (error) {
    // The next turn begins with another program: a person may have signed in by then.
    if (error instanceof OutsideFailure) await verbs.kill({ pid, reason: 'its handshake failed' })
    throw error
  }
}

async function start(
  parts: OutsideParts,
  agent: ProcessRecord,
  { name, command, install }: OutsideProgram,
  signal: AbortSignal,
): Promise<string> {
  const verbs = parts.verbsOf(agent)
  const kept = await keptProgram({
    agent,
    label: `acp:${name}`,
    definition: { acp: name },
    key: `acp:${agent.pid}`,
    command,
    owner: { session: agentSessionOf(agent.pid) },
    verbs,
    secrets: (values) => parts.secrets(values),
  })
  if (kept === null) throw new OutsideFailure('setup_failed', `The program of ${name} ended too often.`)
  const { pid } = kept.record
  const begun = await verbs.waitFor({ pid, types: ['program_started'] }, { signal })
  signal.throwIfAborted()
  if (begun.type === 'heard' && begun.event !== null) return pid
  const { outcome } = await verbs.show({ pid })
  const words = command.run ?? command.argv?.join(' ') ?? ''
  const remedy =
    install === null
      ? 'Check the command.'
      : `If it is not installed: ${install}. Then give the agent its input again.`
  throw new OutsideFailure(
    'setup_failed',
    `The program of ${name} could not be started: ${words} (${outcome?.reason ?? 'no reason'}). ${remedy}`,
  )
}
