import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { opencode as client } from '../../../mcp/clients/drivers/opencode.ts'
import { chatCompletions } from '../../../mcp/clients/model/chat-completions.ts'
import type { RealAgent } from './real-agent.ts'

const [PROGRAM = ''] = client.program

export const opencode: RealAgent = {
  name: 'opencode',
  command: 'opencode',
  programs: [PROGRAM],
  wire: chatCompletions,
  shell: (run) => ({ tool: 'bash', input: { command: run, description: 'Notes that it ran' } }),
  allow: 'Allow once',
  env: (home) => ({
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_STATE_HOME: join(home, 'state'),
  }),
  signIn(home, modelUrl) {
    const folder = join(home, 'config', 'opencode')
    mkdirSync(folder, { recursive: true })
    const scripted = {
      npm: '@ai-sdk/openai-compatible',
      name: 'scripted',
      options: { baseURL: `${modelUrl}/v1`, apiKey: 'none' },
      models: { scripted: { name: 'scripted', tool_call: true } },
    }
    const configuration = {
      autoupdate: false,
      share: 'disabled',
      model: 'scripted/scripted',
      permission: { bash: 'ask' },
      provider: { scripted },
    }
    writeFileSync(join(folder, 'opencode.json'), JSON.stringify(configuration))
  },
  // It has free models of its own, on the network: without an account its first turn asks one of them.
  signedOut: null,
}
