import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chatCompletions } from '../model/chat-completions.ts'
import { type Driver, PLATFORM } from './driver.ts'

export const opencode: Driver = {
  name: 'opencode',
  wire: chatCompletions,
  tellsFolder: true,
  // The build for every x64 processor; `opencode-ai` picks one of them in its install script.
  program: [`opencode-${PLATFORM}-baseline/bin/opencode`],
  prepare({ home, modelUrl, connection }, prompt) {
    const reeve =
      connection.type === 'http'
        ? {
            type: 'remote',
            url: connection.url,
            headers: { Authorization: `Bearer ${connection.token}` },
            oauth: false,
            // How long opencode waits for an answer after a connection broke; a minute by default.
            timeout: 15_000,
          }
        : {
            type: 'local',
            command: [connection.command, ...connection.args],
            environment: connection.env,
          }
    const scripted = {
      npm: '@ai-sdk/openai-compatible',
      name: 'scripted',
      options: { baseURL: `${modelUrl}/v1`, apiKey: 'none' },
      models: { scripted: { name: 'scripted', tool_call: true } },
    }
    const config = join(home, 'opencode.json')
    const configuration = { autoupdate: false, share: 'disabled', provider: { scripted }, mcp: { reeve } }
    writeFileSync(config, JSON.stringify(configuration))
    return {
      args: ['run', '--model', 'scripted/scripted', prompt],
      env: {
        OPENCODE_CONFIG: config,
        OPENCODE_DISABLE_AUTOUPDATE: '1',
        OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
        OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
        OPENCODE_DISABLE_MODELS_FETCH: '1',
        XDG_CACHE_HOME: join(home, 'cache'),
        XDG_CONFIG_HOME: join(home, 'config'),
        XDG_DATA_HOME: join(home, 'data'),
        XDG_STATE_HOME: join(home, 'state'),
      },
    }
  },
}
