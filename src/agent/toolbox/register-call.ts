import type { ToolCallRef } from '../../core/agent/state.ts'
import type { Need } from '../../core/capability/need.ts'
import { needText } from '../../core/capability/need.ts'
import { RefusedError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/json/json.ts'
import type { Pid } from '../../core/process/pid.ts'
import type { Owner, ProcessRecord } from '../../core/process/record.ts'
import { processToolOf } from '../../core/tool/built-in-name.ts'
import type { Work } from '../../kernel/executor.ts'
import type { Kernel } from '../../kernel/kernel.ts'
import type { Registering } from '../../kernel/register.ts'
import { placementOfFiles } from '../placement-of-files.ts'
import type { KnownTool } from './agent-tools.ts'

/** A read-only or waiting tool may begin again as often as daemons die; the process that it waits for begins once. */
const RERUN_ATTEMPTS = 1_000

export interface CallToRegister {
  readonly known: KnownTool
  readonly input: JsonObject
  /** Of a built-in tool; undefined if a connected program runs it. */
  readonly effects: readonly Need[] | undefined
  readonly pid: Pid
  /** Of a call of a model: it is registered only while the call is open. A call of a script belongs where the script does. */
  readonly ofModel?: { readonly openCall: ToolCallRef; readonly owner: Owner }
}

/** Registers the process of a tool call below that of its caller, an agent or a script of one, in its name. */
export async function registerCall(
  kernel: Kernel,
  caller: Work,
  { known, input, effects, pid, ofModel }: CallToRegister,
): Promise<ProcessRecord> {
  const { pid: parent } = caller.record
  const preview = known.tool?.preview
  const registering: Registering = {
    actor: `process:${parent}`,
    pid,
    ...(ofModel === undefined ? {} : { openCall: ofModel.openCall }),
    ...(effects === undefined ? {} : { effects }),
    ...(preview === undefined ? {} : { preview: () => preview(input) }),
    request: {
      kind: 'tool',
      spec: processOf(known, input),
      label: known.name,
      parent,
      ...(ofModel === undefined ? {} : { owner: ofModel.owner }),
      lifetime: 'parent',
      recovery: known.recovery,
      ...(known.tool === null ? {} : { placement: placementOfFiles(caller.record, kernel) }),
      ...(known.recovery === 'rerunnable' ? { limits: { attempts: RERUN_ATTEMPTS } } : {}),
      ...(effects === undefined ? {} : { causedBy: causeOf(effects) }),
    },
  }
  for (;;) {
    const fence = caller.fence()
    try {
      const [registered] = await kernel.register([{ ...registering, fence }])
      if (registered === undefined || registered.type === 'refused')
        throw new Error(`A registration of ${pid} without an answer`)
      return registered.row.record
    } catch (error) {
      // As with every write of an executor: the fence may have risen during the write.
      const isStale = error instanceof RefusedError && error.code === 'stale_fence'
      if (!isStale || caller.fence().fence <= fence.fence) throw error
    }
  }
}

/** The tool and the input of the process of a call. */
function processOf({ name, tool }: KnownTool, input: JsonObject) {
  if (tool === null) return { tool: name, input }
  const { tool: own, input: given } = tool.process?.(input) ?? { tool: name, input }
  return { tool: processToolOf(own), input: given }
}

/** What the call was ruled on with: it is compared when the call runs. */
function causeOf(effects: readonly Need[]): JsonObject {
  const bytes = effects.map(({ attributes }) => attributes.bytes).find((known) => known !== undefined)
  return { needs: effects.map(needText), ...(bytes === undefined ? {} : { bytes }) }
}
