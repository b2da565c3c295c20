import type { Caller } from '../caller.ts';

export interface VoiceCommand {
  readonly transcription: string;
  /** 0…1, of whoever transcribed it. */
  readonly confidence: number;
  readonly sessionId?: string;
}

export interface VoiceFeedback {
  /** What is to be said. */
  readonly speech: string;
  /** What was done, lower snake case; `clarify` when it was not understood well enough. */
  readonly action: string;
  readonly sessionId: string;
  /** Which the session is in, where it is in one. */
  readonly conversationId?: string;
  /** Of a model's answer. */
  readonly turnId?: string;
}

export interface Voice {
  /** Understands and does it; below a confidence of 0.5 it asks back and does nothing. */
  obey(caller: Caller, command: VoiceCommand): Promise<VoiceFeedback>;
}
