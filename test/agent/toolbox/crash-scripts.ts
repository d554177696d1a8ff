import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { defineTool, type ToolDefinition } from 'reeve'
import * as z from 'zod'
import type { Script } from './fake-agent.ts'

/** Tools whose effects are counted outside of Reeve: each run is a line of `effects`. */
export function effectTools(workspace: string, onCalled: (name: string) => void): readonly ToolDefinition[] {
  const effect = (name: string, recovery: 'bound' | 'rerunnable', run: () => Promise<string>) =>
    defineTool({
      name,
      description: name,
      input: z.object({}),
      recovery,
      run: async () => {
        appendFileSync(join(workspace, 'effects'), `${name}\n`)
        onCalled(name)
        return run()
      },
    })
  const untilReleased = async (): Promise<string> => {
    while (!existsSync(join(workspace, 'released'))) await setTimeout(20)
    return 'released'
  }
  return [
    effect('quick', 'bound', async () => 'quick result'),
    effect('slow', 'bound', untilReleased),
    effect('slow_read', 'rerunnable', untilReleased),
  ]
}

const UNTIL_RELEASED = 'echo ran >> effects; while [ ! -e released ]; do sleep 0.05; done; echo end'

export const crashScripts: Record<string, Script> = {
  parallel: [[{ tool: 'quick' }, { tool: 'slow' }, { tool: 'slow_read' }], [{ tool: 'quick' }]],
  command: [[{ tool: 'run_command', input: { command: UNTIL_RELEASED } }]],
  question: [[{ tool: 'ask_human', input: { question: 'Go on?', choices: ['yes', 'no'] } }]],
}
