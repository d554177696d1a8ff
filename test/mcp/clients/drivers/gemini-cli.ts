import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gemini } from '../model/gemini.ts'
import type { Driver } from './driver.ts'

export const geminiCli: Driver = {
  name: 'Gemini CLI',
  wire: gemini,
  tellsFolder: true,
  program: [process.execPath, '@google/gemini-cli/bundle/gemini.js'],
  prepare({ home, modelUrl, connection }, prompt) {
    const reeve =
      connection.type === 'http'
        ? {
            httpUrl: connection.url,
            headers: { Authorization: `Bearer ${connection.token}` },
            // How long Gemini CLI waits for an answer, also after the connection broke; ten minutes by default.
            timeout: 20_000,
          }
        : { command: connection.command, args: connection.args, env: connection.env }
    const settings = {
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      mcpServers: { reeve: { ...reeve, trust: true } },
      privacy: { usageStatisticsEnabled: false },
      security: { auth: { selectedType: 'gemini-api-key' } },
    }
    mkdirSync(join(home, '.gemini'))
    writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings))
    return {
      args: ['-p', prompt, '--output-format', 'stream-json', '--skip-trust'],
      env: { GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_API_KEY: 'none' },
    }
  },
}
