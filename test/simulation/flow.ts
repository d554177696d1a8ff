import type { Json } from '../../src/core/json/json.ts'
import { stepKey } from '../../src/core/process/intent.ts'
import type { ChildOfWorkflow, WorkflowContext } from '../../src/verbs/workflow-function.ts'
import { same } from './ledger.ts'
import { asJson, stepsFrom } from './payload.ts'
import type { ScriptHost } from './script.ts'
import type { Stage } from './stage.ts'

/** One step of a simulated workflow. */
export type FlowStep =
  | { readonly do: 'step'; readonly turns: number; readonly fails: number }
  | { readonly do: 'step and die' }
  | { readonly do: 'signal'; readonly name: string; readonly timeoutMs?: number }
  | { readonly do: 'message' }
  | { readonly do: 'receive'; readonly channel?: string; readonly timeoutMs?: number }
  | { readonly do: 'sleep'; readonly ms: number }
  | { readonly do: 'spawn'; readonly request: ChildOfWorkflow }
  | { readonly do: 'wait' }

/** Runs the steps of its input, and compares every answer with the log. */
export async function runFlow(context: WorkflowContext, around: ScriptHost): Promise<Json> {
  const answers: Json[] = []
  let child: string | undefined
  let stepIndex = 0
  for (const step of stepsFrom<FlowStep>(context.input)) {
    if (step.do === 'wait' && child === undefined) continue
    stepIndex += 1
    switch (step.do) {
      case 'step': {
        const answer = await tried(context, around, step)
        checkStep(around, context.pid, stepIndex, answer)
        answers.push(answer)
        break
      }
      case 'step and die':
        answers.push(await context.step('die', () => effectThen(around)))
        break
      case 'signal':
        answers.push((await context.waitForSignal(step.name, timeOf(step.timeoutMs))) ?? 'timed out')
        break
      case 'message':
        await context.sendMessage({ to: `process:${context.pid}`, channel: 'a', value: 'to itself' })
        break
      case 'receive': {
        const channel = step.channel === undefined ? {} : { channel: step.channel }
        const received = await context.receive({ ...channel, ...timeOf(step.timeoutMs) })
        answers.push(received.type === 'message' ? asJson(received.value) : received.type)
        break
      }
      case 'sleep':
        await context.sleep(step.ms)
        break
      case 'spawn':
        child = await context.spawn(step.request).then(
          ({ pid }) => pid,
          () => child,
        )
        break
      case 'wait':
        answers.push((await context.wait(child ?? '')).status)
    }
  }
  return answers
}

/** Each execution of a step in a world has another effect, so that the log shows which of them counts. */
const effects = new WeakMap<Stage, number>()

async function tried(
  context: WorkflowContext,
  around: ScriptHost,
  { turns, fails }: Extract<FlowStep, { do: 'step' }>,
): Promise<Json> {
  const run = async ({ attempt }: { readonly attempt: number }) => {
    for (let turn = 0; turn < turns; turn++) await around.turn()
    if (attempt <= fails) throw new Error(`try ${attempt}`)
    const effect = (effects.get(around.stage) ?? 0) + 1
    effects.set(around.stage, effect)
    return effect
  }
  const retry = { times: 2, backoffMs: 100 }
  return context.step('work', run, { retry }).catch((error: Error) => {
    if (error.name !== 'StepError') throw error
    return error.message
  })
}

/** Dies between its effect and the commit of the step. */
function effectThen(around: ScriptHost): Promise<Json> | Json {
  const { stage } = around
  if (!stage.faulty || stage.random.chance(0.5)) return 'survived'
  stage.counts.fault('an executor kills its kernel')
  around.die('by its executor')
  return new Promise(() => {})
}

function timeOf(timeoutMs: number | undefined) {
  return timeoutMs === undefined ? {} : { timeoutMs }
}

function checkStep({ stage, ledger }: ScriptHost, pid: string, stepIndex: number, answer: Json): void {
  const stored = ledger.eventByKey(pid, stepKey(stepIndex))?.payload as
    | { readonly value?: Json; readonly error?: string }
    | undefined
  if (stored === undefined || !same(answer, stored.value ?? stored.error ?? null))
    stage.violated(
      'a step is answered from the log',
      `${pid} was told ${JSON.stringify(answer)} at ${stepIndex}, the log has ${JSON.stringify(stored)}`,
    )
}
