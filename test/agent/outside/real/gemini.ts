import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gemini as wire } from '../../../mcp/clients/model/gemini.ts'
import type { RealAgent } from './real-agent.ts'

export const gemini: RealAgent = {
  name: 'gemini',
  command: 'gemini',
  programs: ['@google/gemini-cli/bundle/gemini.js'],
  wire,
  shell: (run) => ({ tool: 'run_shell_command', input: { command: run, description: 'Notes that it ran' } }),
  allow: 'Allow',
  env: () => ({}),
  signIn(home, modelUrl) {
    const settings = {
      general: { enableAutoUpdate: false, enableAutoUpdateNotification: false },
      privacy: { usageStatisticsEnabled: false },
      // In a folder that is not trusted it reads no keys.
      security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
    }
    mkdirSync(join(home, '.gemini'))
    writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(settings))
    writeFileSync(join(home, '.gemini', '.env'), `GEMINI_API_KEY=none\nGOOGLE_GEMINI_BASE_URL=${modelUrl}\n`)
  },
  signedOut:
    /opened no session: Gemini API key is missing.*Sign in first: gemini\..*It offers: Log in with Google/,
}
