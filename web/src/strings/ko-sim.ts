/** Korean texts of the page `/sim`: drive mode, axes of plots, facts about worlds, tour. */
import type { Strings } from "../strings.ts";

export const driveTexts: Strings["drive"] = {
  title: "운전",
  close: "운전 끝내기 (Esc)",
  keys: "W, A, S, D 또는 화살표 키를 누르고 있으면 움직입니다. 놓으면 차가 멈춥니다.",
  pad: "게임패드: LB나 RB를 누른 채 스틱으로 조향하고 트리거로 달립니다.",
  padOn: (name) => `게임패드: ${name}`,
  padOff: "게임패드가 없습니다. 연결하려면 게임패드의 버튼을 누르세요.",
  padConnected: (name) => `게임패드 연결됨: ${name}. 운전하려면 D를 누르세요.`,
  stick: "누르고 끌어서 운전",
  limit: "최고 속도",
  stopped: "페이지가 포커스를 잃어 차를 멈췄습니다.",
};

export const axisTexts: Strings["axes"] = {
  seconds: (value) => `${value}초`,
  now: "현재",
  minus: (value) => `−${value}`,
};

export const worldFactTexts: Strings["worldFacts"] = {
  length: (metres) => `길이 ${metres} m`,
  difficulties: { easy: "쉬움", medium: "보통", hard: "어려움" },
  difficultyTitle: (perMetre, radius) =>
    `도로의 굽은 정도로 정한 난이도: 평균 1 m에 ${perMetre}°, 가장 작은 반지름 ${radius} m`,
  best: (record) => `최고 기록: ${record}`,
  bestTitle: (student, time) => [student, time].filter(Boolean).join(" · "),
  search: "월드 검색",
  searchHint: "이름 또는 ID",
  noMatch: (query) => `"${query}"에 맞는 월드가 없습니다.`,
  deleting: (name) => `${name}을(를) 삭제했습니다.`,
  undo: "실행 취소",
};

export const tourTexts: Strings["tour"] = {
  title: "둘러보기",
  steps: [
    {
      title: "둘러보기",
      text: "끌면 화면이 돌고, 스크롤하면 확대됩니다. 모서리의 버튼으로 차를 따라가거나 트랙을 위에서 볼 수 있습니다.",
    },
    {
      title: "물체 옮기기",
      text: "차나 물체를 클릭해 선택하고, 끌어서 옮기세요. Ctrl+Z를 누르면 되돌립니다.",
    },
    {
      title: "운전하고 평가받기",
      text: "운전 버튼으로 직접 운전하고, 월드 버튼으로 트랙을 고르고, 평가 버튼으로 프로그램의 기록을 재세요.",
    },
  ],
  progress: (step, of) => `${of}단계 중 ${step}단계`,
  next: "다음",
  back: "이전",
  done: "완료",
  skip: "둘러보기 닫기 (Esc)",
  again: "둘러보기 보기",
};
