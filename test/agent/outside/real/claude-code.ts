import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { claudeCode as client } from '../../../mcp/clients/drivers/claude-code.ts'
import { messages } from '../../../mcp/clients/model/messages.ts'
import type { RealAgent } from './real-agent.ts'

export const claudeCode: RealAgent = {
  name: 'claude-code',
  command: 'claude-agent-acp',
  programs: ['@agentclientprotocol/claude-agent-acp/dist/index.js', ...client.program],
  wire: messages,
  shell: (run) => ({ tool: 'Bash', input: { command: run, description: 'Notes that it ran' } }),
  allow: 'Yes',
  env: (home, [_, claude = '']) => ({
    // The adapter's own copy of Claude Code is not installed: package.json beside the clients overrides it.
    CLAUDE_CODE_EXECUTABLE: claude,
    CLAUDE_CONFIG_DIR: join(home, '.claude'),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
  }),
  signIn(home, modelUrl) {
    mkdirSync(join(home, '.claude'))
    const settings = { apiKeyHelper: 'echo none', env: { ANTHROPIC_BASE_URL: modelUrl } }
    writeFileSync(join(home, '.claude', 'settings.json'), JSON.stringify(settings))
  },
  signedOut: /wants a sign-in: Authentication required\. Sign in first: claude-agent-acp --cli auth login\./,
}
