import { commandSpecOf } from '../command/command-spec.ts'
import { RefusedError } from '../core/errors.ts'
import { hasEnded, type ProcessRecord } from '../core/process/record.ts'
import { otherRestart } from '../core/process/restart-policy.ts'
import { restartRequest } from '../core/process/restart-request.ts'
import { refuseTracking } from '../core/process/tracked.ts'
import { type Refusal, refusal } from '../core/refusal.ts'
import type { ParsedInputOf } from '../verbs/reeve.ts'
import type { Inherited } from '../verbs/shapes/inherited.ts'
import { type ActionParts, type ActionsFor, readerFor, throwIfRefused } from './action.ts'
import { Kills, stillThere } from './kill.ts'
import { registerAll, spawnAnswer, whenBegun } from './spawn.ts'

export function restartActions(parts: ActionParts): ActionsFor<'restart'> {
  const { kernel, actor, commands } = parts
  const { edges } = kernel
  const read = readerFor(parts, 'restart')
  const kills = new Kills(parts)

  /** The process that a restart with this key has registered. */
  const restartUnder = async (key: string): Promise<ProcessRecord | null> => {
    const pid = await edges.pidForKey(actor, key)
    return (await edges.store.ask({ ask: 'process', pid })) === null ? null : read(pid)
  }

  return {
    async restart({ pid, graceMs, idempotencyKey, inherited: given }) {
      const begun = idempotencyKey === undefined ? null : await restartUnder(idempotencyKey)
      if (begun !== null) {
        throwIfRefused(otherRestart(begun, pid))
        return { record: begun }
      }
      const old = await read(pid)
      throwIfRefused(refuseTracking(restartRequest(old, null), actor))
      // Before the old one is ended: without its environment it could not be started again.
      const inherited = await inheritedFor(parts, old, given)
      if (!hasEnded(old)) {
        const { type: answer } = await kills.kill(old.pid, `restart by ${actor}`, graceMs)
        if (answer === 'asked') throw new RefusedError(stillThere(old.pid))
      }
      const parent = old.parent === null ? null : await edges.store.ask({ ask: 'process', pid: old.parent })
      const request = restartRequest(old, parent?.record ?? null) as ParsedInputOf<'spawn'>
      const key = idempotencyKey === undefined ? {} : { idempotencyKey }
      const [registered] = await registerAll(kernel, commands, actor, [{ ...request, ...key, ...inherited }])
      const { record } = await whenBegun(kernel, commands, spawnAnswer(registered))
      return { record }
    },
  }
}

/** The environment that a command with `inheritEnv` was started with, unless the caller gives another one. */
async function inheritedFor(
  { kernel, actor, commands }: ActionParts,
  old: ProcessRecord,
  given: Inherited | undefined,
): Promise<{ readonly inherited?: Inherited }> {
  if (old.spec['inheritEnv'] === undefined) return {}
  const { keepEnv = [] } = commandSpecOf(old)
  if (given !== undefined && keepEnv.length === 0) return { inherited: given }
  const isAllowed = kernel.edges.authorize(actor, 'execute', { type: 'process', record: old }) === undefined
  const inherited = (isAllowed ? await commands?.inherited.of(old) : null) ?? null
  const kept = keepEnv.map((name) => [name, inherited?.env[name]] as const)
  if (inherited === null || kept.some(([, value]) => value === undefined))
    throw new RefusedError(environmentGone(old))
  if (given === undefined) return { inherited }
  return { inherited: { ...given, env: { ...given.env, ...Object.fromEntries(kept) } } as Inherited }
}

function environmentGone(old: ProcessRecord): Refusal {
  const { pid } = old
  const { inheritEnv, keepEnv = [] } = commandSpecOf(old)
  if (inheritEnv === 'part' || keepEnv.length > 0)
    return refusal(
      'environment_unknown',
      `${pid} was given variables of a file or a program, which are not kept, so it cannot be started again with them.`,
      'Start the command once more with reeve run --env-file <file>, or with spawn and inherited. With a name and --replace it replaces the old one.',
    )
  return refusal(
    'environment_unknown',
    `${pid} ran in the environment of the shell that started it, which is not kept.`,
    `Run reeve restart ${pid} in a shell: it then gets the environment of that shell.`,
  )
}
