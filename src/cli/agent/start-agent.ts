import { resolve } from 'node:path'
import type { InputOf, ReeveVerbs } from '../../verbs/reeve.ts'
import { allowanceIn, amountsIn } from '../allow.ts'
import type { Context } from '../context.ts'
import { FAILED } from '../exit-code.ts'
import { UsageError } from '../usage-error.ts'
import { effortOf } from './adjust-agent.ts'
import type { AgentOptions } from './agent-options.ts'
import { howToGoOn } from './how-to-go-on.ts'
import { contentIn, typedContent } from './input-content.ts'
import { mcpServersIn } from './mcp-file.ts'
import { modelFor } from './model-for.ts'
import { outsideIn } from './outside-program.ts'
import { watchSession } from './watch-session.ts'

/** Starts an agent in this folder, and shows its session. */
export async function startAgent(context: Context<AgentOptions>, goal: string): Promise<number> {
  const { options, print, around } = context
  if (goal.trim() === '')
    throw new UsageError('The goal is empty.', 'Say what to do: reeve agent "make the tests pass"')
  const reeve = await context.acting()
  const outside = outsideIn(options)
  const { image, model: named } = options
  const model =
    outside === undefined
      ? await modelFor(context, reeve, { image, model: named, folder: around.cwd })
      : undefined
  const { until, detach, once } = options
  const isGoal = until === undefined && options.file.length === 0 && typedContent(goal).parts === undefined
  const spec: Extract<InputOf<'spawn'>, { kind: 'agent' }>['spec'] = {
    agent: options.name ?? image ?? options.with ?? 'agent',
    ...(image === undefined ? {} : { image }),
    ...(model === undefined ? {} : { model }),
    ...outside,
    ...(options.system === undefined ? {} : { system: options.system }),
    ...(options.effort === undefined ? {} : { effort: effortOf(options.effort) }),
    ...(options.tool.length === 0 ? {} : { tools: [...options.tool] }),
    ...(options.mcp === undefined ? {} : { mcpServers: mcpServersIn(resolve(around.cwd, options.mcp)) }),
    ...(options['soft-limit'].length === 0
      ? {}
      : { softLimits: amountsIn('--soft-limit', options['soft-limit']) }),
    ...(once ? { once } : {}),
    // Not the goal of the configuration either: its first input follows.
    goal: isGoal ? goal : null,
  }
  const { record, warning } = await reeve.spawn({
    kind: 'agent',
    spec,
    cwd: around.cwd,
    ...(options.name === undefined ? {} : { name: options.name }),
    ...(options.session === undefined ? {} : { owner: { session: options.session } }),
    ...allowanceIn(options.allow),
  })
  const { pid } = record
  if (warning?.code === 'name_in_use')
    print.aside(
      `${warning.pid} has the name ${options.name}, too, and lives on: while ${pid} lives, ${options.name} means ${pid}.`,
    )
  if (!isGoal) {
    const maxTurns = options['max-turns']
    const loop =
      until === undefined
        ? {}
        : ({
            until: { type: 'command', run: until },
            ...(maxTurns === undefined ? {} : { maxTurns }),
          } as const)
    try {
      await reeve.runAgent({ pid, ...contentIn(context, goal), ...loop })
    } catch (error) {
      // Without its goal the agent has nothing to do.
      await reeve.shutDownAgent({ pid, reason: 'its first input was refused' })
      throw error
    }
  }
  if (!detach) return watchAgent(context, reeve, pid, !once)
  if (print.isJson) print.json(record)
  else print.line(pid)
  return 0
}

/** Shows the session of an agent, and takes what is typed. Resolves with the exit code. */
export async function watchAgent(
  context: Context<AgentOptions>,
  reeve: ReeveVerbs,
  pid: string,
  untilIdle: boolean,
): Promise<number> {
  const { print, options } = context
  const called = options.name ?? pid
  const watched = await watchSession(context, reeve, pid, { untilIdle, last: options.last ?? 20, called })
  if (watched.type === 'left') {
    print.aside(
      `The agent stays: reeve agent attach ${called} comes back, reeve agent end ${called} ends it.`,
    )
    return 0
  }
  if (watched.type === 'ended') {
    print.aside(`${called} has ended.`)
    return watched.isAsWished ? 0 : FAILED
  }
  const { phase, isAsWished } = watched
  print.aside(
    `${called} is ${phase}. Go on: ${howToGoOn(called, watched)}; end it: reeve agent end ${called}`,
  )
  return isAsWished && phase === 'idle' ? 0 : FAILED
}
