/** English: the texts of the builder page that belong to its lists, tabs and dialogs. */
export const buildTabsTexts = {
  badAnswer: "The simulator sent an answer that can't be read. Reload the page.",
};
